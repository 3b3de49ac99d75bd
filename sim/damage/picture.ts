import type { Chance } from '../chance.js';
import type { Ask, Question, Reply } from './asker.js';
import type { LifeRecord } from './life.js';

/** Answers of an installation, by question. */
export type Picture = ReadonlyMap<string, string>;

const LISTS = [
  '',
  '/equities',
  '/ledger?limit=500',
  '/activities?limit=500',
  '/day-trades',
  '/history',
  '/margin',
];

/** Everything that can be asked about a life without changing it. */
function questionsAbout(lived: LifeRecord): readonly Question[] {
  const questions: Question[] = [
    { method: 'GET', path: '/v1/simulations' },
    { method: 'GET', path: '/v1/simulation/clock' },
    { method: 'GET', path: '/v1/simulation/corporate-actions' },
    { method: 'GET', path: '/v1/accounts?limit=500' },
  ];
  for (const accountId of lived.accountIds) {
    for (const path of [`/v1/accounts/${accountId}/portfolios`, `/v1/orders/account/${accountId}?limit=500`])
      questions.push({ method: 'GET', path });
  }
  for (const { portfolioId, simulationId } of lived.portfolios) {
    const of = simulationId === undefined ? {} : { simulationId };
    for (const list of LISTS)
      questions.push({ method: 'GET', path: `/v1/accounts/portfolios/${portfolioId}${list}`, ...of });
    questions.push({ method: 'GET', path: `/v1/orders/portfolio/${portfolioId}?limit=500`, ...of });
  }
  for (const { orderId, simulationId } of lived.orders) {
    const of = simulationId === undefined ? {} : { simulationId };
    for (const part of ['', '/executions'])
      questions.push({ method: 'GET', path: `/v1/orders/${orderId}${part}`, ...of });
  }
  return questions;
}

const nameOf = ({ method, path, simulationId = 'main' }: Question): string =>
  `${method} ${path} of ${simulationId}`;

export async function takePicture(ask: Ask, lived: LifeRecord): Promise<Picture> {
  const picture = new Map<string, string>();
  for (const question of questionsAbout(lived)) {
    const { status, text } = await ask(question);
    if (status !== 200 && status !== 404) throw new Error(`${nameOf(question)} answered ${status}: ${text}`);
    picture.set(nameOf(question), `${status} ${text}`);
  }
  return picture;
}

export interface Comparison {
  /** Answered as they were. */
  same: number;
  /** Refused with a 503. */
  refused: number;
  readonly different: string[];
}

/** Orders that are asked about one by one. */
const SAMPLE = 24;
const REPEATED = 6;

/**
 * Asks again, and compares: all lists, some of the orders, some of the requests that had a key. An answer that is not the same may be a
 * 503, and nothing else.
 */
export async function comparePicture(
  ask: Ask,
  lived: LifeRecord,
  picture: Picture,
  chance: Chance,
): Promise<Comparison> {
  const comparison: Comparison = { same: 0, refused: 0, different: [] };
  const take = (name: string, was: string, { status, text }: Reply): void => {
    const is = `${status} ${text}`;
    if (status === 503) comparison.refused++;
    else if (is === was) comparison.same++;
    else comparison.different.push(`${name} ${firstDifference(was, is)}`);
  };
  const all = questionsAbout(lived);
  const single = all.filter(({ path }) => /^\/v1\/orders\/[0-9a-f-]{36}/.test(path));
  const some = new Set(Array.from({ length: SAMPLE }, () => chance.pick(single)));
  for (const question of all) {
    if (single.includes(question) && !some.has(question)) continue;
    take(nameOf(question), picture.get(nameOf(question)) ?? '', await ask(question));
  }
  for (let n = 0; n < REPEATED; n++) {
    const { question, status, text } = chance.pick(lived.keyed);
    const again = await ask(question);
    const name = `${nameOf(question)}, repeated,`;
    take(name, `${status} ${text}`, again);
    if (again.status < 500 && !again.replayed) comparison.different.push(`${name} was done again`);
  }
  return comparison;
}

/** The first difference of two texts, with its context. */
function firstDifference(was: string, is: string): string {
  let at = 0;
  while (at < was.length && was[at] === is[at]) at++;
  const around = (text: string): string => text.slice(Math.max(0, at - 60), at + 60);
  return `was …${around(was)}… and is …${around(is)}…`;
}
