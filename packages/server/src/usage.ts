/** Prints the usage of a command whose arguments ask for it with `--help` or `-h`; true = it did. */
export function printUsage(usage: string, given: readonly string[] = process.argv.slice(2)): boolean {
  const isAsked = given.includes('--help') || given.includes('-h');
  if (isAsked) process.stdout.write(`${usage}\n`);
  return isAsked;
}
