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
const note = text({ description: 'A note for people.' });

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
        description:
          '`ENABLED` sends events from now on; what happened while the webhook was disabled is not sent.',
      }),
    ),
  },
  { description: 'Fields that are left out keep their values.' },
);
export type UpdateWebhookBody = Static<typeof UpdateWebhookBody>;

const webhookFields = {
  webhookId: uuid(),
  url: anyText(),
  events: listOf(anyText(), { description: 'Subscribed event types; `*` = all.' }),
  simulationId: anyText({ description: '`*` = all simulations of the tenant.' }),
  description: optional(anyText()),
  status: choice(statuses),
  reason: optional(anyText({ description: 'Why the server disabled it.' })),
  createdAt: instant({ description: 'Real time.' }),
};

export const Webhook = closed('Webhook', {
  ...webhookFields,
  lastSuccessAt: optional(
    instant({ description: 'Real time at which the receiver last accepted an event.' }),
  ),
  failingSince: optional(
    instant({ description: 'Real time of the first failed attempt since the last success.' }),
  ),
});
export type Webhook = Static<typeof Webhook>;

const secret = anyText({
  description:
    'The key that signs deliveries: `whsec_` and 32 bytes in base64. It is shown in this answer alone.',
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
  previousSecretExpiresAt: instant({ description: 'Until then both secrets sign, in real time.' }),
});
export type RotatedSecret = Static<typeof RotatedSecret>;

const deliveryStatuses = ['PENDING', 'DELIVERED', 'FAILED'] as const;

export const DeliveryAttempt = closed('DeliveryAttempt', {
  at: instant({ description: 'Real time.' }),
  statusCode: optional(Type.Integer({ description: 'Status of the answer; absent where there was none.' })),
  error: optional(anyText({ description: 'Why the try failed; absent where it succeeded.' })),
  durationMs: count({ description: 'Milliseconds until the answer, or until the try was given up.' }),
});
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

export const WebhookDelivery = closed('WebhookDelivery', {
  deliveryId: uuid(),
  eventId: anyText({
    description: 'The `webhook-id` header of every try.',
    examples: ['evt_main_12-3'],
  }),
  type: anyText({ examples: ['order.filled'] }),
  attempts: listOf(DeliveryAttempt, { description: 'Oldest first.' }),
  status: choice(deliveryStatuses, {
    description:
      '`PENDING`: it is tried again. `FAILED`: no further try is scheduled; it can be redelivered for 30 days.',
  }),
  nextAttemptAt: optional(instant({ description: 'Real time of the next try, if one is scheduled.' })),
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
