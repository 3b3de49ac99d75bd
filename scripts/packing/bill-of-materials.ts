/** The software bill of materials (CycloneDX) of the package: the list of npm, reduced to the libraries that are in the package. */
import { execFileSync } from 'node:child_process';
import { describeLibrary } from './licenses.js';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
}

interface Bill {
  readonly metadata: { readonly component: object };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const BILL = [
  'sbom',
  '--omit=dev',
  '--package-lock-only',
  '--sbom-format=cyclonedx',
  '--sbom-type=application',
];

/** The bill of these libraries, given by their folders. */
export function billOfMaterials(root: string, folders: readonly string[]): string {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const text = execFileSync(npm, BILL, { cwd: root, encoding: 'utf8' });
  const { metadata, components, dependencies, ...rest } = JSON.parse(text) as Bill;
  const listed = new Map(components.map((one) => [`${one.name}@${one.version}`, one]));
  const shipped = new Map(
    folders.map((folder) => {
      const { name, version, license } = describeLibrary(root, folder);
      const key = `${name}@${version}`;
      const known = { 'bom-ref': key, type: 'library', name, version, purl: purlOf(name, version) };
      // npm counts the libraries of the documentation site among those of development, and does not read old forms of a license.
      return [key, { ...known, licenses: [{ license: { id: license } }], ...listed.get(key) }];
    }),
  );
  const refs = new Set([...shipped.values()].map((one) => one['bom-ref']));
  const { name, version, license } = describeLibrary(root, '.');
  const main = { 'bom-ref': `${name}@${version}`, type: 'application', name, version };
  const bill = {
    ...rest,
    metadata: {
      ...metadata,
      component: { ...main, purl: purlOf(name, version), licenses: [{ license: { id: license } }] },
    },
    components: [...shipped.values()],
    dependencies: [
      { ref: main['bom-ref'], dependsOn: [...refs] },
      ...dependencies
        .filter(({ ref }) => refs.has(ref))
        .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) })),
    ],
  };
  return `${JSON.stringify(bill, null, 1)}\n`;
}

const purlOf = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;
