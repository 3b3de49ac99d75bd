import { setTimeout as later } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { pino } from 'pino';
import { answerMeanwhile, Beginnings } from './beginnings.js';
import type { Settings } from './config.js';
import { EXIT } from './exit-codes.js';
import { NodeListener } from './http/cluster/node-listener.js';
import { beginOpening, prepareDataDirectory } from './open-store.js';
import { signingSecret } from './signing-secret.js';
import { StoreUnavailable, UnusableDatabase } from './store/journal.js';
import { lineOfLog } from './terminal.js';
import { endProcess } from './threads/process-end.js';

/** Final message before exit: one line for an error that an operator can fix, including errors of the operating system; else the stack. */
export function lastWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const known =
    /^(BadSetting|DamagedJournal|StoreInUse|StoreUnavailable|UnusableDirectory|UnusableDatabase|CannotBegin|BrokersFileError|BadReplayFile|ImplausibleClock)$/;
  const isSystem = (error as NodeJS.ErrnoException).syscall !== undefined;
  const isUsage = (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS') === true;
  return known.test(error.name) || isSystem || isUsage ? `sandpit: ${error.message}` : String(error.stack);
}

/**
 * True for an error that may pass when a node begins again under another incarnation. Its settings have been good: the database is gone or
 * fails over, so that only a standby answers, or the port was lent to a connection meanwhile.
 */
export const isPassing = (error: unknown): boolean =>
  error instanceof StoreUnavailable ||
  error instanceof UnusableDatabase ||
  (error as NodeJS.ErrnoException).code === 'EADDRINUSE';

/** The URL of a node: a port that it names is that of a proxy. */
const nodeUrlOf = (url: string, port: number): string =>
  url.startsWith('https:') || /:\d+$/.test(url) ? url : `${url}:${port}`;

/** Clears the main thread's young-generation flags, which it has applied already: they would override the limits of its threads. */
function boundThreads(): void {
  setFlagsFromString('--min-semi-space-size=0');
  setFlagsFromString('--max-semi-space-size=0');
}

/** Serves until a signal. On a terminal it logs readable lines; otherwise JSON. */
export async function runServer(settings: Settings): Promise<void> {
  boundThreads();
  const isTerminal = process.stdout.isTTY;
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const log = isTerminal
    ? pino({ level: settings.logLevel }, { write: (json) => say(lineOfLog(json)) })
    : pino({ level: settings.logLevel });
  const isTold = isTerminal && log.isLevelEnabled('info');
  // A permanently failed store, a broken invariant, a bug: stop acknowledging, and let the supervisor restart the server.
  const onFatal = (error: Error): void => {
    log.fatal({ err: error }, 'stopping: the brokerage cannot go on');
    endProcess(EXIT.FAILED);
  };
  process.on('uncaughtException', onFatal);
  process.on('unhandledRejection', (reason) =>
    onFatal(reason instanceof Error ? reason : new Error(String(reason))),
  );

  prepareDataDirectory(settings);
  // With a database it is stored there.
  const jwtSecret = settings.databaseUrl === undefined ? signingSecret(settings) : settings.jwtSecret;
  let http = { ...settings, jwtSecret };
  let listener: NodeListener | undefined;
  const { cluster } = settings;
  if (cluster !== undefined) {
    listener = await NodeListener.open(cluster.port, cluster.host, settings.host);
    http = { ...http, cluster: { ...cluster, url: nodeUrlOf(cluster.url, listener.port) } };
  }
  let isEnded = false;
  let hasListened = false;
  const beginnings = new Beginnings();
  let endAnswers = (): Promise<void> => Promise.resolve();
  while (!isEnded) {
    const opening = beginOpening(http, onFatal, (text) => log.warn(text));
    // The threads of the store start while this one loads its modules: a third of a second.
    const { serve } = await import('./serve.js');
    try {
      const port = await serve(http, {
        opening,
        log,
        onFatal,
        listener,
        beginnings,
        beforeListening: () => endAnswers(),
        ...(isTold && { say }),
      });
      isEnded = port === undefined;
      hasListened = true;
      if (port === undefined) continue;
      beginnings.evicted += 1;
      http = { ...http, port };
      endAnswers = await answerMeanwhile(port, http.host);
    } catch (error) {
      // The store may still be opening: it is closed when it has opened.
      await opening.store.then((store) => store.close()).catch(() => undefined);
      if (!opening.isEvicted && !(hasListened && isPassing(error))) throw error;
      const pauseMs = beginnings.noteFailure(error);
      log.warn({ err: error, pauseMs }, 'the node could not begin: it tries again');
      await endAnswers();
      if (hasListened) endAnswers = await answerMeanwhile(http.port, http.host);
      await later(pauseMs);
    }
  }
}
