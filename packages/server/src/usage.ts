/** Prints the usage of a command for `--help` or `-h`; true = printed. */
export function printUsage(usage: string, given: readonly string[] = process.argv.slice(2)): boolean {
  const isAsked = given.includes('--help') || given.includes('-h');
  if (isAsked) process.stdout.write(`${usage}\n`);
  return isAsked;
}
