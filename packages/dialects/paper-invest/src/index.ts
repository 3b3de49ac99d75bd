/** Paper Invest: the API that `/v1` follows, with the names that its clients use. */
import type { Dialect, Reply } from '@sandpit/dialect-port';
import { answers } from './answers.js';
import { bodies } from './requests.js';

/** Answers of operations that are those of `/v1`. */
const asThere = (): Reply => {
  throw new Error('Paper Invest has no routes of its own');
};

const dialect: Dialect = {
  name: 'paper-invest',
  prefix: '/paperinvest',
  hosts: ['api.paperinvest.io'],
  routes: [],
  bodies: ['json'],
  sockets: [],
  credentialOf: () => undefined,
  limitHeaders: () => [],
  refuse: asThere,
  translate: asThere,
  mirror: { bodies, answers },
};

export default dialect;
