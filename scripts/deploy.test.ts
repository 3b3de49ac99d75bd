/** The files for operating a cluster, as far as they can be held to without its programs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Compile } from 'typebox/schema';
import { parse } from 'yaml';
import { EXIT } from '../packages/server/src/exit-codes.js';
import { createMetricsServer, Traffic } from '../packages/server/src/http/metrics.js';
import { TestApp } from '../packages/server/src/testing/test-app.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const isSetting = (name: string): boolean => read('README.md').includes(`| \`${name}\` |`);

interface ComposeService {
  readonly environment?: Readonly<Record<string, string>>;
}

describe('compose.cluster.yaml', () => {
  it('has a PostgreSQL, a load balancer and three nodes that differ in name and address only', () => {
    const { services } = parse(read('compose.cluster.yaml'), { merge: true }) as {
      readonly services: Readonly<Record<string, ComposeService>>;
    };
    expect(Object.keys(services).sort()).toEqual(['balancer', 'node-1', 'node-2', 'node-3', 'postgres']);
    const balanced = [...read('deploy/cluster/haproxy.cfg').matchAll(/^ +server (\S+) (\S+)$/gm)];
    expect(balanced.map(([, name, address]) => `${name} ${address}`)).toEqual(
      ['node-1', 'node-2', 'node-3'].map((name) => `${name} ${name}:3000`),
    );
    for (const name of ['node-1', 'node-2', 'node-3']) {
      const environment = services[name]?.environment ?? {};
      expect(environment['NODE_ID']).toBe(name);
      expect(environment['NODE_URL']).toBe(`http://${name}:${environment['NODE_PORT']}`);
      expect(Object.keys(environment).filter((setting) => !isSetting(setting))).toEqual([]);
      expect({ ...environment, NODE_ID: '', NODE_URL: '' }).toEqual({
        ...services['node-1']?.environment,
        NODE_ID: '',
        NODE_URL: '',
      });
    }
  });
});

describe('sandpit.service', () => {
  const linesOf = (name: string): readonly string[] =>
    [...read('deploy/sandpit.service').matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(
      ([, value = '']) => value,
    );

  it('starts the server with the options of npm start', () => {
    const { scripts } = JSON.parse(read('package.json')) as {
      readonly scripts: { readonly start: string };
    };
    const options = scripts.start.match(/--\S+/g)?.join(' ') ?? '';
    expect(linesOf('ExecStart')).toEqual([`/usr/bin/node ${options} packages/server/dist/main.js`]);
  });

  it('sets known settings, and does not restart after exits that another start would repeat', () => {
    const names = linesOf('Environment').flatMap((line) => line.split(' ').map((one) => one.split('=')[0]));
    expect(names.filter((name) => !isSetting(name ?? ''))).toEqual(['NODE_ENV', 'MALLOC_ARENA_MAX']);
    expect(linesOf('RestartPreventExitStatus')).toEqual([`${EXIT.DAMAGED} ${EXIT.SETTINGS}`]);
    const drain = Number(/DRAIN_MS=(\d+)/.exec(read('deploy/sandpit.service'))?.[1]);
    // A stop may last nine seconds after the drain.
    expect(Number(linesOf('TimeoutStopSec')[0]) * 1000).toBeGreaterThan(drain + 9_000);
  });
});

type Values = Readonly<Record<string, unknown>>;
const VALUES = parse(read('deploy/helm/values.yaml')) as Values;

/** A template with the few functions that the chart uses. */
function rendered(template: string): unknown {
  const lookUp = (path: string, scope: Values): unknown =>
    path
      .split('.')
      .slice(1)
      .reduce<unknown>((found, name) => (found as Values)[name], scope);
  const scope = { Values: VALUES, Release: { Name: 'trading' } };
  const valueOf = (word: string, local: Values): unknown => {
    if (word.startsWith('$')) return local[word];
    if (word.startsWith('.')) return lookUp(word, scope);
    return word.startsWith('"') ? word.slice(1, -1) : Number(word);
  };
  const callOf = (words: readonly string[], local: Values): unknown => {
    const [name = '', ...rest] = words;
    const args = rest.map((word) => valueOf(word, local));
    switch (name) {
      case 'printf':
        return args.slice(1).reduce<string>((text, arg) => text.replace('%s', String(arg)), String(args[0]));
      case 'toJson':
        return JSON.stringify(args[0]);
      case 'add':
        return Number(args[0]) + Number(args[1]);
      case 'div':
        return Math.trunc(Number(args[0]) / Number(args[1]));
      default:
        if (rest.length > 0) throw new Error(`unknown function ${name}`);
        return valueOf(name, local);
    }
  };
  const expand = (text: string, local: Values): string =>
    text.replace(/\{\{-? (.*?) -?\}\}/g, (_, expression: string) => {
      const flat = expression.replace(/\(([^()]*)\)/g, (_call, inner: string) =>
        String(callOf(inner.split(' '), local)),
      );
      const [first = '', ...pipes] = flat.split(' | ');
      const value = callOf(first.match(/"[^"]*"|\S+/g) ?? [], local);
      return pipes.includes('quote') ? JSON.stringify(String(value)) : String(value);
    });
  const looped = template.replace(
    /^ *\{\{- range (\$\w+), (\$\w+) := (\S+) \}\}\n([\s\S]*?)^ *\{\{- end \}\}\n/gm,
    (_, key: string, value: string, path: string, body: string) =>
      Object.entries(lookUp(path, scope) as Values)
        .map(([name, one]) => expand(body, { [key]: name, [value]: one }))
        .join(''),
  );
  const text = expand(looped, {});
  expect(text).not.toContain('{{');
  return parse(text);
}

type Labels = Readonly<Record<string, string>>;

interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly readinessProbe: { readonly httpGet: { readonly path: string } };
}

interface Deployment {
  readonly strategy: { readonly rollingUpdate: unknown };
  readonly selector: { readonly matchLabels: Labels };
  readonly template: {
    readonly metadata: { readonly labels: Labels };
    readonly spec: {
      readonly terminationGracePeriodSeconds: number;
      readonly containers: readonly [Container];
    };
  };
}

const KUBERNETES = JSON.parse(read('scripts/kubernetes-objects.json')) as object;

/** Violations of a JSON schema, as text. */
function violations(schema: object, value: unknown): readonly string[] {
  const [isValid, errors] = Compile(schema).Errors(value);
  return isValid ? [] : errors.map(({ instancePath, message }) => `${instancePath} ${message}`);
}

interface KubernetesObject {
  readonly kind: string;
  readonly spec: Values;
}

describe('the Helm chart', () => {
  const objects = readdirSync(join(ROOT, 'deploy/helm/templates')).map(
    (file) => rendered(read(`deploy/helm/templates/${file}`)) as KubernetesObject,
  );
  const specs = new Map(objects.map(({ kind, spec }) => [kind, spec as unknown]));
  const schemaOf = (kind: string): object => ({ ...KUBERNETES, allOf: [{ $ref: `#/definitions/${kind}` }] });
  const deployment = specs.get('Deployment') as Deployment;
  const budget = specs.get('PodDisruptionBudget') as {
    readonly maxUnavailable: number;
    readonly selector: { readonly matchLabels: Labels };
  };
  const [container] = deployment.template.spec.containers;

  it('has a deployment, a service and a disruption budget for the same pods', () => {
    expect([...specs.keys()].sort()).toEqual(['Deployment', 'PodDisruptionBudget', 'Service']);
    const { labels } = deployment.template.metadata;
    expect(deployment.selector.matchLabels).toEqual(labels);
    expect(budget.selector.matchLabels).toEqual(labels);
    expect((specs.get('Service') as { readonly selector: Labels }).selector).toEqual(labels);
  });

  it('renders objects that are valid by the schemas of their kinds, which find what is not', () => {
    for (const object of objects) expect(violations(schemaOf(object.kind), object), object.kind).toEqual([]);
    const [first = { kind: '', spec: {} }] = objects;
    for (const broken of [
      { ...first, apiVersion: 'extensions/v1beta1' },
      { ...first, spec: { ...first.spec, replicas: '3' } },
      { ...first, spec: { ...first.spec, replica: 3 } },
      { ...first, spec: { ...first.spec, selector: undefined } },
    ])
      expect(violations(schemaOf('Deployment'), broken)).not.toEqual([]);
  });

  it('replaces one node after the other, each ready before the next, and gives it time to drain', () => {
    expect(deployment.strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    expect(container.readinessProbe.httpGet.path).toBe('/v1/ready');
    const drain = container.env.find(({ name }) => name === 'DRAIN_MS')?.value;
    const grace = deployment.template.spec.terminationGracePeriodSeconds;
    expect(grace * 1_000).toBeGreaterThanOrEqual(Number(drain) + 10_000);
    expect(budget.maxUnavailable).toBe(1);
  });

  it('gives other nodes a port that the service does not have', () => {
    const valueOf = (wanted: string) => container.env.find(({ name }) => name === wanted)?.value;
    expect(valueOf('NODE_URL')).toBe(`http://$(POD_IP):${valueOf('NODE_PORT')}`);
    const ports = container.ports.map(({ name, containerPort }) => [name, String(containerPort)]);
    expect(ports).toContainEqual(['nodes', valueOf('NODE_PORT')]);
    const { ports: served } = specs.get('Service') as { readonly ports: readonly { targetPort: string }[] };
    expect(served.map(({ targetPort }) => targetPort)).toEqual(['http']);
  });

  it('sets only settings that there are', () => {
    const names = container.env.map(({ name }) => name);
    expect(names.filter((name) => name !== 'POD_IP' && !isSetting(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('describes every value in its schema', () => {
    const schema = JSON.parse(read('deploy/helm/values.schema.json')) as {
      readonly required: readonly string[];
      readonly properties: Values;
    };
    expect(Object.keys(VALUES).filter((name) => !Object.hasOwn(schema.properties, name))).toEqual([]);
    expect(schema.required.filter((name) => !Object.hasOwn(VALUES, name))).toEqual([]);
    expect(violations(schema, VALUES)).toEqual([]);
    expect(violations(schema, { ...VALUES, replicas: 0 })).not.toEqual([]);
    expect(violations(schema, { ...VALUES, replica: 3 })).not.toEqual([]);
  });
});

describe('dashboard and alerts', () => {
  let metrics: ReadonlySet<string>;
  let test: TestApp;
  beforeAll(async () => {
    test = await TestApp.open();
    const server = createMetricsServer(new Traffic(), {
      store: test.store,
      simulations: test.simulations,
      dataDir: import.meta.dirname,
      clockMs: () => Date.now(),
      openStreams: () => 0,
      webhookFigures: test.app.webhookFigures,
      beginnings: { begun: 1, failed: 0, evicted: 0 },
    });
    const { body } = await server.inject('/metrics');
    metrics = new Set([...body.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
    await server.close();
  });
  afterAll(() => test.close());

  const namesIn = (expression: string): string[] =>
    (expression.match(/\b(?:sandpit|process|nodejs)_\w+/g) ?? []).map((name) => name.replace(/_bucket$/, ''));

  it('name only metrics that the server has', () => {
    const { groups } = parse(read('deploy/prometheus/alerts.yaml')) as {
      readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[];
    };
    const { panels } = JSON.parse(read('deploy/grafana/sandpit.json')) as {
      readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
    };
    const expressions = [
      ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ];
    for (const expression of expressions) expect(namesIn(expression), expression).not.toEqual([]);
    expect(expressions.flatMap(namesIn).filter((name) => !metrics.has(name))).toEqual([]);
  });

  it('refer to sections of runbooks that are there', () => {
    const runbooks = [...read('deploy/prometheus/alerts.yaml').matchAll(/runbook: (\S+)/g)].map(
      ([, at = '']) => at,
    );
    for (const runbook of runbooks) {
      const [path = '', anchor] = runbook.split('#');
      const headings = [...read(path).matchAll(/^## (.*)$/gm)].map(([, text = '']) =>
        text.toLowerCase().replaceAll(' ', '-'),
      );
      if (anchor !== undefined) expect(headings).toContain(anchor);
    }
  });
});
