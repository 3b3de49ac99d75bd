#!/usr/bin/env node
/** The command `sandpit` of a checkout: starts what `npm run build` made. */
import { existsSync } from 'node:fs';

const main = new URL('../dist/main.js', import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write('Sandpit is not built yet. Run npm run build first.\n');
  process.exitCode = 1;
}
