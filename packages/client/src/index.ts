export { type Arguments, Sandpit } from './client.js';
export { connect, demoAccess } from './connect.js';
export * from './errors.js';
export type { FollowOptions } from './events.js';
export { OPERATIONS } from './operations.js';
export { NotFilledError, Order } from './order.js';
export {
  type OrderBody,
  type OrderOptions,
  orderOf,
  Portfolio,
  type Size,
  type SpreadLeg,
  spreadOf,
  type SpreadOptions,
} from './portfolio.js';
export {
  type ReceivedWebhook,
  verifyWebhook,
  type WebhookPayload,
  WebhookVerificationError,
} from './verify-webhook.js';
export type { Access, NdjsonFile, TransportOptions } from './transport.js';
