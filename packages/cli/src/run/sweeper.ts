/**
 * Outlives a run that was killed: when its input closes without a word, it removes the directory of the run and ends the command. Arguments:
 * the directory, and then lines on the input with process ids.
 */
import { rmSync } from 'node:fs';

const [directory] = process.argv.slice(2);
let text = '';
// Signals of the terminal and of supervisors are for the command.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk: string) => (text += chunk));
process.stdin.on('error', () => undefined);
process.stdin.on('close', () => {
  if (!text.includes('done\n'))
    for (const line of text.split('\n')) {
      const id = Number(line);
      // A negative id is that of a process group.
      if (!Number.isInteger(id) || id === 0 || id === 1) continue;
      try {
        process.kill(id, 'SIGKILL');
      } catch {
        // The run has ended.
      }
    }
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
});
