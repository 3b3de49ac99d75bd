/** Exit codes of the server, which tell a supervisor whether a restart can help. `docs/operations.md` explains them. */
export const EXIT = {
  /** Stopped by a signal. */
  STOPPED: 0,
  /** An unforeseen error, a broken invariant, a store that failed while the server ran. */
  FAILED: 1,
  /** The journal is damaged. */
  DAMAGED: 65,
  /** The main thread was stuck. */
  STUCK: 70,
  /** The operating system refused something: a port in use, a file that cannot be opened. */
  SYSTEM: 71,
  /** Another process uses the data directory. */
  IN_USE: 75,
  /** The clock of the machine cannot be right. */
  CLOCK: 76,
  /** A setting, or a file that a setting names, cannot be used. */
  SETTINGS: 78,
} as const;

const BY_NAME: Readonly<Partial<Record<string, number>>> = {
  BadSetting: EXIT.SETTINGS,
  BrokersFileError: EXIT.SETTINGS,
  BadReplayFile: EXIT.SETTINGS,
  UnusableDirectory: EXIT.SETTINGS,
  UnusableDatabase: EXIT.SETTINGS,
  DamagedJournal: EXIT.DAMAGED,
  StoreInUse: EXIT.IN_USE,
  ImplausibleClock: EXIT.CLOCK,
};

/** The exit code for the error that ended a start. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof Error)) return EXIT.FAILED;
  const isSystem = (error as NodeJS.ErrnoException).syscall !== undefined;
  return BY_NAME[error.name] ?? (isSystem ? EXIT.SYSTEM : EXIT.FAILED);
}
