/** The load of `http.ts`, in a process of its own: so many connections, each with one request under way, for some time. */
import autocannon from 'autocannon';
import { quantile } from './measure.js';

export interface Load {
  readonly url: string;
  readonly token: string;
  readonly seconds: number;
  /** For each connection the bodies it sends, over and over. */
  readonly bodies: readonly (readonly object[])[];
}

export interface LoadResult {
  readonly accepted: number;
  /** Statuses and errors other than 201. */
  readonly failed: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of this process. */
  readonly cpuMs: number;
}

process.once('message', (load: Load) => {
  void fire(load).then((result) => {
    process.send?.(result);
    process.disconnect();
  });
});

async function fire({ url, token, seconds, bodies }: Load): Promise<LoadResult> {
  const times: number[] = [];
  let failed = 0;
  let connection = 0;
  const cpu = process.cpuUsage();
  const began = performance.now();
  let ended = began;
  const { errors, timeouts } = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(
      {
        url,
        method: 'POST',
        connections: bodies.length,
        duration: seconds,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        setupClient(client) {
          const own = bodies[connection++ % bodies.length] ?? [];
          client.setRequests(
            own.map((body) => ({ method: 'POST', path: '/v1/orders', body: JSON.stringify(body) })),
          );
        },
      },
      (error: unknown, result) => {
        if (error instanceof Error) reject(error);
        else resolve(result);
      },
    );
    run.on('response', (_client, statusCode, _bytes, ms) => {
      if (statusCode === 201) times.push(ms);
      else failed += 1;
      ended = performance.now();
    });
  });
  const { user, system } = process.cpuUsage(cpu);
  times.sort((a, b) => a - b);
  return {
    accepted: times.length,
    failed: failed + errors + timeouts,
    perSecond: (times.length / (ended - began)) * 1000,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    cpuMs: (user + system) / 1000,
  };
}
