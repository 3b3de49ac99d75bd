/** The Dockerfile and the compose file, as far as they can be held to without a container engine. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Copy, DockerfileParser } from 'dockerfile-ast';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const dockerfile = DockerfileParser.parse(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
const all = dockerfile.getInstructions().map((one) => ({
  keyword: one.getKeyword(),
  text: one.getArgumentsContent() ?? '',
  isFromStage: one instanceof Copy && one.getFromFlag() !== null,
  line: one.getRange().start.line,
}));
const stages = dockerfile.getFROMs();
const lastStage = stages.at(-1)?.getRange().start.line ?? 0;
const last = all.filter(({ line }) => line >= lastStage);
const only = (keyword: string): string => {
  const found = last.filter((one) => one.keyword === keyword);
  expect(found, keyword).toHaveLength(1);
  return found[0]?.text ?? '';
};
const wordsOf = (text: string): string[] => JSON.parse(text.slice(text.indexOf('['))) as string[];

describe('the Dockerfile', () => {
  it('the Dockerfile: installs the package in one stage and copies it into another', () => {
    expect(stages.map((from) => from.getImage())).toEqual(Array(2).fill('node:22-bookworm-slim'));
    expect(stages[0]?.getBuildStage()).toBe('build');
    expect(last.filter(({ keyword }) => keyword === 'COPY').map(({ text }) => text)).toEqual(['/app ./']);
    const compilers = last.filter(({ keyword, text }) => keyword === 'RUN' && /npm|apt/.test(text));
    expect(compilers).toEqual([]);
  });

  it('the Dockerfile: runs unprivileged, keeps its data in a volume, and has a health check', () => {
    expect(only('USER')).toBe('node');
    expect(only('VOLUME')).toBe('/data');
    expect(only('EXPOSE')).toBe('3000');
    expect(only('ENV')).toContain('DATA_DIR=/data');
    expect(only('HEALTHCHECK')).toContain('/v1/ready');
    const user = last.findIndex(({ keyword }) => keyword === 'USER');
    const owned = last.findIndex(({ text }) => text.includes('chown node:node /data'));
    expect(owned).toBeLessThan(user);
  });

  it('copies only existing files, and none that are ignored', () => {
    const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
    for (const { text } of all.filter(({ keyword, isFromStage }) => keyword === 'COPY' && !isFromStage))
      for (const path of text.split(/\s+/).slice(0, -1)) {
        expect(existsSync(join(ROOT, path)), path).toBe(true);
        expect(ignored).not.toContain(path.split('/')[0]);
      }
    expect(ignored).toEqual(expect.arrayContaining(['**/node_modules', '**/dist', '.git', 'data']));
  });

  it('starts the program of npm start, and its health check detects a ready server', async () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: { start: string };
    };
    const [program, ...flags] = wordsOf(only('CMD'));
    expect(program).toBe('node');
    expect(flags.pop()).toBe('node_modules/sandpit-broker/packages/server/dist/main.js');
    expect(scripts.start.split(' ').filter((word) => word.startsWith('--'))).toEqual(flags);

    const check = wordsOf(only('HEALTHCHECK').slice(only('HEALTHCHECK').indexOf('CMD')));
    const healthy = (port: string) =>
      promisify(execFile)(process.execPath, check.slice(1), { env: { PORT: port } });
    await inDirectory(async (directory) => {
      const server = ServerProcess.launch({ DATA_DIR: directory });
      const { port } = new URL(await server.listening);
      await healthy(port);
      await server.end('SIGTERM');
      await expect(healthy(port)).rejects.toMatchObject({ code: 1 });
    });
  });
});

it('the compose file has the settings that the image needs, and no others', () => {
  const { services, volumes } = parse(readFileSync(join(ROOT, 'compose.yaml'), 'utf8')) as {
    services: Record<string, Record<string, unknown>>;
    volumes: Record<string, unknown>;
  };
  expect(services.sandpit).toMatchObject({
    build: '.',
    ports: ['127.0.0.1:3000:3000'],
    volumes: ['data:/data'],
    read_only: true,
    cap_drop: ['ALL'],
  });
  expect(volumes).toHaveProperty('data');
});
