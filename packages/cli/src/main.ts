#!/usr/bin/env node
import { run } from './program.js';

process.exitCode = await run(process.argv.slice(2), {
  isTerminal: process.stdout.isTTY,
  write: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
});
