/** CPU time of another process by thread (Linux). Threads of Node are named by their modules, which a preload writes down. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Writes the id that the system gives a thread, and its module. The other process loads it before anything else, so it is plain JavaScript. */
const PRELOAD = `
const { appendFileSync, readlinkSync } = require('node:fs');
const id = readlinkSync('/proc/thread-self').split('/').at(-1);
// A thread knows its module only after this.
setImmediate(() => appendFileSync(process.env.BENCH_THREAD_NAMES, id + ' ' + process.argv[1] + '\\n'));
`;
const CLOCK_TICK_MS = 10;

/** Variables with which a process writes the names of its threads to a file in `directory`. */
export function namingThreads(directory: string): NodeJS.ProcessEnv {
  const preload = join(directory, 'name-threads.cjs');
  writeFileSync(preload, PRELOAD);
  return { NODE_OPTIONS: `--require ${preload}`, BENCH_THREAD_NAMES: join(directory, 'threads') };
}

/** Milliseconds by name; threads without a module of their own collect garbage, compile, or wait for the file system. */
export function cpuByThread(pid: number | undefined, directory: string): Map<string, number> {
  const path = join(directory, 'threads');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  const names = new Map(lines.map((line) => line.split(' ') as [string, string]));
  const tasks = `/proc/${pid ?? 'self'}/task`;
  const times = new Map<string, number>();
  for (const id of readdirSync(tasks)) {
    const module = names.get(id);
    const name = module === undefined ? 'V8 and libuv' : basename(module, '.js');
    const fields =
      readFileSync(join(tasks, id, 'stat'), 'utf8')
        .split(') ')[1]
        ?.split(' ') ?? [];
    const ms = (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
    times.set(name, (times.get(name) ?? 0) + ms);
  }
  return times;
}
