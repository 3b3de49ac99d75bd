/** Demonstrations: simulations that a fixture of the server fills with months of trading. */
import type { Broker } from '../broker.ts';
import { go, hrefOf } from '../route.ts';
import { keepToken } from '../session.ts';

export type DemoName = 'active-trader' | 'options-desk' | 'retirement' | 'every-status';

export const DEMOS: readonly { readonly name: DemoName; readonly title: string; readonly text: string }[] = [
  {
    name: 'active-trader',
    title: 'A month of an active trader',
    text: 'A margin account with round trips and stops',
  },
  {
    name: 'options-desk',
    title: 'A month of an options desk',
    text: 'Spreads, covered calls and expirations',
  },
  { name: 'retirement', title: 'Three months of an IRA', text: 'Deposits, purchases and dividends' },
];

/** A demonstration for programs rather than for a first look. */
export const EVERY_STATUS = {
  name: 'every-status',
  title: 'Every order status',
  text: 'Orders in every status, activities of every kind, an open margin call',
} as const;

/** The first session of the demonstration. */
const START = '2026-01-05T09:00:00-05:00';

/** Creates the simulation, fills it and goes there. What cannot be filled is deleted again. */
export async function openDemo(broker: Broker, name: DemoName): Promise<void> {
  const title = [...DEMOS, EVERY_STATUS].find((one) => one.name === name)?.title ?? name;
  const { simulationId, token } = await broker.call('createSimulation', {
    body: { name: title, feed: 'synthetic', clock: 'manual', calendar: 'XNYS', start: START, seed: 7 },
  });
  try {
    await broker.within(token).call('fillFixture', { body: { name } });
  } catch (error) {
    await broker.call('deleteSimulation', { params: { simulationId } }).catch(() => undefined);
    throw error;
  }
  keepToken(token);
  go(hrefOf(simulationId, ''));
}
