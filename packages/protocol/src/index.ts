export * from './accounts.js';
export * from './agent-tokens.js';
export * from './analytics.js';
export * from './auth.js';
export * from './brokers.js';
export * from './enums.js';
export * from './comparisons.js';
export * from './competitions.js';
export * from './evaluations.js';
export * from './errors.js';
export * from './evaluation-tasks.js';
export * from './executions.js';
export * from './faults.js';
export * from './forks.js';
export * from './masks.js';
export {
  choice,
  closed,
  flag,
  integer,
  list,
  moneyBounds,
  nonNegative,
  optional,
  parameters,
  positive,
  simulatedTime,
  type Static,
  text,
} from './fields.js';
export * from './cluster.js';
export * from './health.js';
export * from './history.js';
export * from './fixtures.js';
export * from './ids.js';
export * from './imports.js';
export * from './invitations.js';
export { type DateTime, parseDateTime } from './iso8601.js';
export * from './key-pairs.js';
export * from './margin.js';
export * from './market-data.js';
export { openApiDocument, openApiPath, type OpenApiOptions } from './openapi.js';
export type { Json } from './openapi-components.js';
export * from './order-body.js';
export * from './orders.js';
export * from './alerts.js';
export * from './server.js';
export * from './outcomes.js';
export * from './paging.js';
export { plainSchemaOf } from './plain-schema.js';
export * from './portfolios.js';
export * from './positions.js';
export * from './routes.js';
export {
  errorCodesOf,
  errorStatusesOf,
  isCsvList,
  pathsOf,
  type Route,
  type Tag,
  tags,
  takesIdempotencyKey,
} from './routes/route.js';
export { ruled } from './rules.js';
export * from './simulation.js';
export * from './simulations.js';
export * from './steps.js';
export * from './streams.js';
export { ElementChecks, longListsOf } from './element-checks.js';
export { validateBody, validateParams, validateTexts, type Validation } from './validate.js';
export * from './webhooks.js';
