// Writes the id that the system gives this thread, and its module, for thread-cpu.ts.
const { appendFileSync, readlinkSync } = require('node:fs');

const id = readlinkSync('/proc/thread-self').split('/').at(-1);
// A thread knows its module only after this.
setImmediate(() => appendFileSync(process.env.BENCH_THREAD_NAMES, `${id} ${process.argv[1]}\n`));
