/** Webhooks (D191–D193): endpoints of a tenant, and their deliveries. */
import { type Static, Type } from 'typebox';
import { webhookPatterns } from './enums.js';
import {
  anyText,
  choice,
  closed,
  count,
  instant,
  list,
  listOf,
  optional,
  parameters,
  text,
  uuid,
} from './fields.js';
import { pageFields, paged } from './paging.js';

/** Longest URL of a receiver, characters. */
const LONGEST_URL = 2048;

const url = text({
  maxLength: LONGEST_URL,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://',
  'x-expected': 'must be an http(s) URL',
  description:
    'URL that receives the events: `https` or `http`, port 80, 443 or 1024 and up, without user information. The address must be a public one unless the server has `WEBHOOK_ALLOW_PRIVATE=on`.',
  examples: ['https://hooks.example.com/sandpit'],
});
const patterns = list(
  choice(webhookPatterns),
  { min: 1, max: webhookPatterns.length },
  {
    description: 'Event types or groups of them, such as `order.filled` and `order.*`; `*` = all.',
    examples: [['order.filled', 'margin-call.*']],
  },
);
const simulation = text({
  maxLength: 64,
  description:
    'The simulation whose events are sent; `*` = all simulations of the tenant, including `main` and those created later.',
});
const note = text({ description: 'A note.' });

export const WebhookBody = closed('WebhookBody', {
  url,
  events: optional(patterns),
  simulationId: optional(simulation),
  description: optional(note),
});
export type WebhookBody = Static<typeof WebhookBody>;

const statuses = ['ENABLED', 'DISABLED'] as const;

export const UpdateWebhookBody = closed(
  'UpdateWebhookBody',
  {
    url: optional(url),
    events: optional(patterns),
    simulationId: optional(simulation),
    description: optional(note),
    status: optional(
      choice(statuses, {
        description: '`ENABLED` sends future events; events during the disabled time are not sent.',
      }),
    ),
  },
  { description: 'Omitted fields keep their values.' },
);
export type UpdateWebhookBody = Static<typeof UpdateWebhookBody>;

const webhookFields = {
  webhookId: uuid(),
  url: anyText(),
  events: listOf(anyText(), { description: 'Subscribed event types; `*` = all.' }),
  simulationId: anyText({ description: '`*` = all simulations of the tenant.' }),
  description: optional(anyText()),
  status: choice(statuses),
  reason: optional(anyText({ description: 'Reason why the server disabled the webhook.' })),
  createdAt: instant({ description: 'Wall-clock time.' }),
};

export const Webhook = closed('Webhook', {
  ...webhookFields,
  lastSuccessAt: optional(
    instant({ description: 'Wall-clock time at which the receiver last accepted an event.' }),
  ),
  failingSince: optional(
    instant({ description: 'Wall-clock time of the first failed attempt since the last success.' }),
  ),
});
export type Webhook = Static<typeof Webhook>;

const secret = anyText({
  description: 'Key that signs deliveries: `whsec_` and 32 bytes in base64. Returned only here.',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
});

/** Answer to a creation: only this one and that of a rotation contain the secret. */
export const CreatedWebhook = closed('CreatedWebhook', { ...webhookFields, secret });
export type CreatedWebhook = Static<typeof CreatedWebhook>;

export const WebhookPage = paged('WebhookPage', Webhook, 'Webhooks, oldest first.');
export type WebhookPage = Static<typeof WebhookPage>;

export const DeletedWebhook = closed('DeletedWebhook', { webhookId: uuid(), message: anyText() });
export type DeletedWebhook = Static<typeof DeletedWebhook>;

export const RotatedSecret = closed('RotatedSecret', {
  webhookId: uuid(),
  secret,
  previousSecretExpiresAt: instant({ description: 'Wall-clock time until which both secrets sign.' }),
});
export type RotatedSecret = Static<typeof RotatedSecret>;

const deliveryStatuses = ['PENDING', 'DELIVERED', 'FAILED'] as const;

export const DeliveryAttempt = closed('DeliveryAttempt', {
  at: instant({ description: 'Wall-clock time.' }),
  statusCode: optional(Type.Integer({ description: 'HTTP status of the answer; absent without an answer.' })),
  error: optional(anyText({ description: 'Reason for the failure; absent after a success.' })),
  durationMs: count({ description: 'Milliseconds until the answer or the timeout.' }),
});
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

export const WebhookDelivery = closed('WebhookDelivery', {
  deliveryId: uuid(),
  eventId: anyText({
    description: 'The `webhook-id` header of every attempt.',
    examples: ['evt_main_12-3'],
  }),
  type: anyText({ examples: ['order.filled'] }),
  attempts: listOf(DeliveryAttempt, { description: 'Oldest first.' }),
  status: choice(deliveryStatuses, {
    description:
      '`PENDING`: another attempt is scheduled. `FAILED`: no further attempt is scheduled; can be redelivered for 30 days.',
  }),
  nextAttemptAt: optional(instant({ description: 'Wall-clock time of the next attempt, if scheduled.' })),
});
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const DeliveryQuery = parameters({
  ...pageFields,
  status: optional(choice(deliveryStatuses, { description: 'Only deliveries with this status.' })),
});
export type DeliveryQuery = Static<typeof DeliveryQuery>;

export const WebhookDeliveryPage = paged(
  'WebhookDeliveryPage',
  WebhookDelivery,
  'Deliveries that were tried, newest first.',
);
export type WebhookDeliveryPage = Static<typeof WebhookDeliveryPage>;
