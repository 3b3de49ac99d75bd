/** Interactive Brokers: the socket protocol of TWS and IB Gateway. A port belongs to one portfolio. */
import type { Dialect } from '@sandpit/dialect-port';
import { Session } from './session.js';

const NOWHERE = {
  status: 404,
  text: 'not found',
  headers: { 'content-type': 'text/plain; charset=utf-8' },
} as const;

const dialect: Dialect = {
  name: 'tws',
  prefix: '/tws',
  hosts: [],
  routes: [],
  bodies: ['json'],
  sockets: [],
  listener: (connection) => new Session(connection),
  credentialOf: () => undefined,
  limitHeaders: () => [],
  refuse: () => NOWHERE,
  translate: () => NOWHERE,
};

export default dialect;
