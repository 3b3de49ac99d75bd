/** Process of `neighbors.ts`: the client of the busy tenant. What it sends and reads does not delay the client that is measured. */
import { callerWith, worstRequests } from './worst-requests.js';

const [url = '', token = ''] = process.argv.slice(2);

const requests = await worstRequests(url, callerWith(url, token));
process.on('message', ({ name, forMs }: { readonly name: string; readonly forMs: number }) => {
  // A refusal ends the process.
  void repeat(name, forMs).then((longestMs) => process.send?.(longestMs));
});
process.send?.(Object.keys(requests));

/** Repeats a request without a pause. Returns the longest time of one, ms. */
async function repeat(name: string, forMs: number): Promise<number> {
  const end = performance.now() + forMs;
  let longestMs = 0;
  do {
    const began = performance.now();
    await requests[name]?.();
    longestMs = Math.max(longestMs, performance.now() - began);
  } while (performance.now() < end);
  return longestMs;
}
