/**
 * `node scripts/command.js PROGRAM ...arguments`: runs a compiled program of a checkout, after compiling what changed. Prints to standard
 * error while it compiles, because standard output belongs to the program.
 */
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { compileWhenChanged } from './compile.js';

const program = resolve(process.argv[2] ?? '');
await compileWhenChanged(() => console.error('sandpit: compiling; later commands do without'));
process.argv.splice(1, 2, program);
await import(pathToFileURL(program).href);
