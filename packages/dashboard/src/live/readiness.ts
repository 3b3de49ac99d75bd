/** Readiness of the server with its reasons, and the state of its source of market data. */
import { AnswerError } from '@sandpit/client';
import type { Readiness } from '@sandpit/protocol';
import { type Broker, useBroker } from '../broker.ts';
import { type Loaded, useEvery, useLoad } from '../load.ts';

const AGAIN_MS = 5000;

/** Read every five seconds. A server that is not ready is an answer, no error. */
export function useReadiness(): Loaded<Readiness> {
  const broker = useBroker();
  const ready = useLoad(() => readinessOf(broker), []);
  useEvery(AGAIN_MS, ready.reload);
  return ready;
}

async function readinessOf(broker: Broker): Promise<Readiness> {
  try {
    return await broker.call('getReadiness');
  } catch (error) {
    if (error instanceof AnswerError && error.status === 503 && isReadiness(error.body)) return error.body;
    throw error;
  }
}

const isReadiness = (body: unknown): body is Readiness =>
  typeof body === 'object' && body !== null && 'reasons' in body;
