/** What is replaced in a compiled module of the server, once, as it is loaded in whichever thread of a process that a rig has started. */
export interface Patch {
  /** The end of its path. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** The environment of a process in which patches apply. One that does not fit any more ends it. */
export function environmentOf(patches: readonly Patch[]): Readonly<Record<string, string>> {
  if (patches.length === 0) return {};
  const hooks = moduleUrl(`
    export async function load(url, context, next) {
      const loaded = await next(url, context);
      let source = loaded.source;
      for (const { file, from, to } of ${JSON.stringify(patches)}) {
        if (!url.endsWith(file)) continue;
        if (!String(source).includes(from)) throw new Error('a patch does not fit ' + url);
        source = String(source).replace(from, () => to);
      }
      return { ...loaded, source };
    }`);
  const register = moduleUrl(`
    import { register } from 'node:module';
    register(${JSON.stringify(hooks)});`);
  return { NODE_OPTIONS: `--import ${register}` };
}

const moduleUrl = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;

const SCHEDULE = 'server/dist/engine/checkpoint-schedule.js';

/** Checkpoints every so many records, so that short runs have some. */
export const checkpointsEvery = (records: number): readonly Patch[] => [
  { file: SCHEDULE, from: 'RECORDS_BEHIND = 20_000', to: `RECORDS_BEHIND = ${records}` },
  { file: SCHEDULE, from: 'NOT_WORTH_IT = 1000', to: 'NOT_WORTH_IT = 1' },
];
