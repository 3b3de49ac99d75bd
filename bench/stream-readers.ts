/** The readers of `streams.ts`, in a process of their own: each reads until it has received the last order. */
import { Agent, get } from 'node:http';

interface Wanted {
  readonly url: string;
  readonly token: string;
  readonly streams: number;
  /** Id of an order. */
  readonly last: string;
}

process.once('message', ({ url, token, streams, last }: Wanted) => {
  const agent = new Agent({ maxSockets: Infinity });
  const read = (): Promise<void> =>
    new Promise((resolve, reject) => {
      get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
        let before = '';
        response.setEncoding('latin1').on('data', (part: string) => {
          // The id may lie across two parts.
          if (!(before + part).includes(last)) {
            before = part.slice(-last.length);
            return;
          }
          response.destroy();
          resolve();
        });
        response.on('end', () => reject(new Error('the stream has ended')));
      }).on('error', () => undefined);
    });
  void Promise.all(Array.from({ length: streams }, read)).then(() => process.send?.('done'));
});
