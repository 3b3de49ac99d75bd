import type { DeliveryAttempt, StoredDelivery, StoredWebhook } from '../../store/webhooks.js';
import type { SimulationEntries } from '../../engine/directory/entries.js';
import { AddressRefused, webhookUrlProblem } from '../../webhooks/addresses.js';
import { EVERY_SIMULATION, TooManyWebhooks, WebhookConflict } from '../../webhooks/webhooks.js';
import type { Webhooks } from '../../webhooks/webhooks.js';
import { type Answer, refuse, refuseCoded, SIMULATION_NOT_FOUND } from '../answer.js';
import type { Handlers, Issuers } from '../call.js';
import { isoOfMs } from '../translate/instants.js';
import { pageOfAll, pageReply, windowOf } from '../translate/pages.js';

type WebhookHandlers = Pick<
  Handlers,
  | 'createWebhook'
  | 'listWebhooks'
  | 'getWebhook'
  | 'updateWebhook'
  | 'deleteWebhook'
  | 'rotateWebhookSecret'
  | 'testWebhook'
  | 'listWebhookDeliveries'
  | 'redeliverWebhook'
>;

const WEBHOOK_NOT_FOUND = refuse(404, 'Webhook not found');
const DELIVERY_NOT_FOUND = refuse(404, 'Delivery not found');

/** Webhooks of a tenant (D191). */
export function webhookHandlers(webhooks: Webhooks, entries: SimulationEntries): WebhookHandlers {
  /** Reason why a webhook cannot have this URL or simulation; undefined if it can. */
  const refusalOf = async (
    tenantId: string,
    { url, simulationId }: { readonly url?: string; readonly simulationId?: string },
  ): Promise<Answer | undefined> => {
    if (url !== undefined) {
      const problem = webhookUrlProblem(url);
      if (problem !== undefined) return refuse(400, [`url ${problem}`]);
    }
    const isKnown =
      simulationId === undefined ||
      simulationId === EVERY_SIMULATION ||
      entries.info(simulationId, tenantId) !== undefined;
    if (!isKnown) return SIMULATION_NOT_FOUND;
    if (simulationId !== undefined && entries.info(simulationId, tenantId)?.config.ephemeral === true)
      return refuse(400, ['simulationId must not name an ephemeral simulation']);
    if (url === undefined) return undefined;
    try {
      await webhooks.checkAddress(url);
      return undefined;
    } catch (error) {
      if (error instanceof AddressRefused) return refuseCoded('WEBHOOK_ADDRESS_REFUSED', error.message, {});
      throw error;
    }
  };
  return {
    async createWebhook({ principal: { tenantId }, body }) {
      const { url, events = ['*'], simulationId = 'main', description } = body;
      const refusal = await refusalOf(tenantId, { url, simulationId });
      if (refusal !== undefined) return refusal;
      return unlessConflict(async () =>
        shown(
          await webhooks.create(tenantId, {
            url,
            events,
            simulationId,
            ...(description !== undefined && { description }),
          }),
        ),
      );
    },

    listWebhooks: ({ principal, query }) =>
      pageOfAll(webhooks.list(principal.tenantId), query, ({ webhookId }) => webhookId, shownWithState),

    getWebhook({ principal, params }) {
      const webhook = webhooks.find(principal.tenantId, params.webhookId);
      return webhook === undefined ? WEBHOOK_NOT_FOUND : shownWithState(webhook);
    },

    async updateWebhook({ principal: { tenantId }, params: { webhookId }, body }) {
      const before = webhooks.find(tenantId, webhookId);
      if (before === undefined) return WEBHOOK_NOT_FOUND;
      // One that was imported was never checked here.
      const url = body.url ?? (body.status === 'ENABLED' ? before.url : undefined);
      const refusal = await refusalOf(tenantId, { ...body, ...(url !== undefined && { url }) });
      if (refusal !== undefined) return refusal;
      const webhook = await webhooks.update(tenantId, webhookId, body);
      return webhook === undefined ? WEBHOOK_NOT_FOUND : shownWithState(webhook);
    },

    async deleteWebhook({ principal, params: { webhookId } }) {
      const isDeleted = await webhooks.delete(principal.tenantId, webhookId);
      return isDeleted ? { webhookId, message: 'Webhook deleted' } : WEBHOOK_NOT_FOUND;
    },

    async rotateWebhookSecret({ principal, params: { webhookId } }) {
      const rotated = await webhooks.rotate(principal.tenantId, webhookId);
      if (rotated === undefined) return WEBHOOK_NOT_FOUND;
      return { webhookId, previousSecretExpiresAt: isoOfMs(rotated.until) };
    },

    testWebhook: ({ principal, params }) =>
      unlessConflict(async () => {
        const delivery = await webhooks.test(principal.tenantId, params.webhookId);
        return delivery === undefined ? WEBHOOK_NOT_FOUND : shownDelivery(delivery);
      }),

    async listWebhookDeliveries({ principal, params: { webhookId }, query }) {
      if (webhooks.find(principal.tenantId, webhookId) === undefined) return WEBHOOK_NOT_FOUND;
      const { status } = query;
      const page = await webhooks.deliveries({
        webhookId,
        ...windowOf(query),
        ...(status !== undefined && { status }),
      });
      return pageReply(page.items.map(shownDelivery), page, query);
    },

    redeliverWebhook: ({ principal: { tenantId }, params: { webhookId, deliveryId } }) =>
      unlessConflict(async () => {
        if (webhooks.find(tenantId, webhookId) === undefined) return WEBHOOK_NOT_FOUND;
        const delivery = await webhooks.redeliver(tenantId, webhookId, deliveryId);
        return delivery === undefined ? DELIVERY_NOT_FOUND : shownDelivery(delivery);
      }),
  };
}

/** Shows secrets in these responses only; stored responses do not contain them. */
export const webhookIssuer = (
  webhooks: Webhooks,
): Pick<Issuers, 'createWebhook' | 'rotateWebhookSecret'> => ({
  createWebhook({ principal }, kept) {
    const secret = webhooks.find(principal.tenantId, kept.webhookId)?.secret;
    return secret === undefined ? WEBHOOK_NOT_FOUND : { ...kept, secret };
  },
  rotateWebhookSecret({ principal }, kept) {
    const secret = webhooks.find(principal.tenantId, kept.webhookId)?.secret;
    return secret === undefined ? WEBHOOK_NOT_FOUND : { ...kept, secret };
  },
});

async function unlessConflict<T>(work: () => Promise<T>): Promise<T | Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TooManyWebhooks || error instanceof WebhookConflict)
      return refuse(409, error.message);
    throw error;
  }
}

const shown = ({
  webhookId,
  url,
  events,
  simulationId,
  description,
  status,
  reason,
  createdAt,
}: StoredWebhook) => ({
  webhookId,
  url,
  events: [...events],
  simulationId,
  ...(description !== undefined && { description }),
  status,
  ...(reason !== undefined && { reason }),
  createdAt: isoOfMs(createdAt),
});

const shownWithState = (webhook: StoredWebhook) => ({
  ...shown(webhook),
  ...(webhook.lastSuccessAt !== undefined && { lastSuccessAt: isoOfMs(webhook.lastSuccessAt) }),
  ...(webhook.failingSince !== undefined && { failingSince: isoOfMs(webhook.failingSince) }),
});

const shownAttempt = ({ at, ...attempt }: DeliveryAttempt) => ({ at: isoOfMs(at), ...attempt });

const shownDelivery = ({ deliveryId, eventId, type, attempts, status, nextAt }: StoredDelivery) => ({
  deliveryId,
  eventId,
  type,
  attempts: attempts.map(shownAttempt),
  status,
  ...(nextAt !== undefined && { nextAttemptAt: isoOfMs(nextAt) }),
});
