#!/usr/bin/env node
import { run } from './program.js';

// A reader such as `head` that has seen enough closes the pipe, which is no failure.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });

process.exitCode = await run(process.argv.slice(2), {
  isTerminal: process.stdout.isTTY,
  write: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
});
