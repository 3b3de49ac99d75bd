import { BadSetting, forgetSourceKeys, misspelt, readSettings } from './config.js';
import { leaveMemoryOutOfCoreFiles } from './core-files.js';
import { exitCodeOf } from './exit-codes.js';
import { lastWords, runServer } from './run-server.js';
import { endProcess } from './threads/process-end.js';

try {
  const [given] = process.argv.slice(2);
  if (given !== undefined)
    throw new BadSetting(
      `${given}: the server has no arguments; settings are environment variables (PORT=8080 npm start)`,
    );
  for (const { name, meant } of misspelt())
    process.stderr.write(
      `sandpit: ${name} is no setting of this server${meant === undefined ? '' : `; ${meant} is`}\n`,
    );
  const settings = readSettings();
  forgetSourceKeys();
  if (settings.live !== undefined) leaveMemoryOutOfCoreFiles();
  await runServer(settings);
} catch (error) {
  process.stderr.write(`${lastWords(error)}\n`);
  endProcess(exitCodeOf(error));
}
