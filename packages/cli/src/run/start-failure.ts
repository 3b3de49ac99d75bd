/** Exit codes of shells for a command that cannot be started. */
export function startFailure(
  file: string,
  { code, message }: NodeJS.ErrnoException,
): { readonly message: string; readonly exitCode: number } {
  if (code === 'ENOENT') return { message: `${file}: command not found`, exitCode: 127 };
  if (code === 'EACCES') return { message: `${file}: cannot be executed`, exitCode: 126 };
  return { message: `${file}: ${message}`, exitCode: 126 };
}
