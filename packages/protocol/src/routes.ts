/** All operations of the API, by operation id. */
import type { Static, TSchema } from 'typebox';
import { accountRoutes } from './routes/accounts.js';
import { alertRoutes } from './routes/alerts.js';
import { analyticsRoutes } from './routes/analytics.js';
import { competitionRoutes } from './routes/competitions.js';
import { evaluationRoutes } from './routes/evaluations.js';
import { invitationRoutes } from './routes/invitations.js';
import { keyPairRoutes } from './routes/key-pairs.js';
import { marketDataRoutes } from './routes/market-data.js';
import { orderRoutes } from './routes/orders.js';
import { portfolioRoutes } from './routes/portfolios.js';
import type { Route } from './routes/route.js';
import { serviceRoutes } from './routes/service.js';
import { simulationRoutes } from './routes/simulation.js';
import { webhookRoutes } from './routes/webhooks.js';

export const routes = {
  ...accountRoutes,
  ...portfolioRoutes,
  ...analyticsRoutes,
  ...keyPairRoutes,
  ...orderRoutes,
  ...marketDataRoutes,
  ...serviceRoutes,
  ...alertRoutes,
  ...simulationRoutes,
  ...webhookRoutes,
  ...competitionRoutes,
  ...evaluationRoutes,
  ...invitationRoutes,
};

type Routes = typeof routes;

/** The operations that are offered. */
export type OperationId = keyof Routes;

/** Every route that is offered, in its general form, for code that goes through all of them. */
export const routeEntries = Object.entries(routes) as readonly (readonly [OperationId, Route])[];

type Declared<Id extends OperationId, Part extends 'params' | 'query' | 'body'> =
  Routes[Id] extends Readonly<Record<Part, infer Schema extends TSchema>> ? Static<Schema> : undefined;

/** The accepted path parameters of an operation; `undefined` if it has none. */
export type ParamsOf<Id extends OperationId> = Declared<Id, 'params'>;
/** The accepted query of an operation, with defaults filled in. */
export type QueryOf<Id extends OperationId> = Declared<Id, 'query'>;
/** The accepted body of an operation. */
export type BodyOf<Id extends OperationId> = Declared<Id, 'body'>;
/** Successful answer of an operation: the body of any of its statuses. */
export type ReplyOf<Id extends OperationId> = {
  [Status in keyof Routes[Id]['responses']]: Routes[Id]['responses'][Status] extends TSchema
    ? Static<Routes[Id]['responses'][Status]>
    : never;
}[keyof Routes[Id]['responses']];
