/** The pages that say how the brokerage decides, as they are installed beside the server. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PREFIX = 'sandpit://rules/';

/** In the package, and in a checkout. */
const PLACES = ['../../../rules/', '../../../../../docs/rules/'];

export interface RulePage {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

let pages: readonly RulePage[] | undefined;

/** All of them, read once. */
export function rulePages(): readonly RulePage[] {
  if (pages === undefined) {
    const place = PLACES.map((path) => fileURLToPath(new URL(path, import.meta.url))).find((path) =>
      existsSync(path),
    );
    const files = place === undefined ? [] : readdirSync(place).filter((file) => file.endsWith('.md'));
    pages = files.sort().map((file) => {
      const text = readFileSync(`${place ?? ''}${file}`, 'utf8');
      const name = file.slice(0, -'.md'.length);
      return { uri: PREFIX + name, name, title: /^# (.+)$/m.exec(text)?.[1] ?? name, text };
    });
  }
  return pages;
}
