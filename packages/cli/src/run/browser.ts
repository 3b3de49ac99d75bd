/** The browser of a command: it gives the simulated logins that the command opens, and opens nothing else. */

/** The text of a program that takes a URL. The preload leads it to the run's proxy. */
export const browserText = (hosts: readonly string[]): string =>
  `(${open.toString()})(${JSON.stringify(hosts)}, require);\n`;

/** Its text runs in another process: it uses nothing from outside. */
function open(hosts: readonly string[], load: (name: string) => unknown): void {
  const { get } = load('node:https') as {
    get: (url: URL, options: object) => { on(name: string, listener: () => void): void };
  };
  const text = process.argv[2] ?? '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !hosts.includes(url.hostname)) {
    process.stderr.write('sandpit run: only the login of a simulated broker can be opened\n');
    process.exitCode = 1;
    return;
  }
  void fetch(url, { redirect: 'manual' }).then((reply) => {
    const location = reply.headers.get('location') ?? '';
    const back = URL.canParse(location) ? new URL(location) : undefined;
    if (back === undefined || !/^(?:localhost|127\..*|\[::1\])$/.test(back.hostname)) {
      process.stderr.write('sandpit run: the login was refused, or returns to another machine\n');
      process.exitCode = 1;
      return;
    }
    // The listener of the command has a certificate of its own.
    if (back.protocol === 'https:') get(back, { rejectUnauthorized: false }).on('error', () => undefined);
    else void fetch(back, { redirect: 'manual' }).catch(() => undefined);
  });
}
