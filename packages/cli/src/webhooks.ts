import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook } from '@sandpit/client';
import type { BodyOf } from '@sandpit/protocol';
import type { Command } from 'commander';
import { numberOf } from './numbers.js';
import { type Output, printFields, printRows } from './output.js';
import type { Client } from './portfolios.js';

interface CreateOptions {
  readonly events: string;
  readonly simulation: string;
}

export function addWebhooks(program: Command, client: Client, out: Output): void {
  const webhooks = program
    .command('webhooks')
    .description('Send events to a URL, and see what was delivered.');
  webhooks
    .command('list', { isDefault: true })
    .alias('ls')
    .description('List your webhooks, oldest first.')
    .action(async () => {
      const { data } = await (await client()).call('listWebhooks', { query: { limit: 100 } });
      printRows(out, data, [
        'webhookId',
        'url',
        'events',
        'simulationId',
        'status',
        'reason',
        'lastSuccessAt',
      ]);
    });
  withChoice(webhooks.command('create <url>'))
    .description('Create a webhook; its secret is shown this once.')
    .action(async (url: string, given: CreateOptions) => {
      printFields(out, await (await client()).call('createWebhook', { body: bodyOf(url, given) }));
    });
  webhooks
    .command('show <webhookId>')
    .description('Show a webhook.')
    .action(async (webhookId: string) => {
      printFields(out, await (await client()).call('getWebhook', { params: { webhookId } }));
    });
  for (const [name, status, description] of [
    ['enable', 'ENABLED', 'Send events again, from now on.'],
    ['disable', 'DISABLED', 'Send nothing more; what waited for another try is FAILED.'],
  ] as const)
    webhooks
      .command(`${name} <webhookId>`)
      .description(description)
      .action(async (webhookId: string) => {
        const asked = await client();
        printFields(out, await asked.call('updateWebhook', { params: { webhookId }, body: { status } }));
      });
  webhooks
    .command('rotate-secret <webhookId>')
    .description('Make a new secret; the one before signs along for 24 hours.')
    .action(async (webhookId: string) => {
      printFields(out, await (await client()).call('rotateWebhookSecret', { params: { webhookId } }));
    });
  webhooks
    .command('delete <webhookId>')
    .alias('rm')
    .description('Delete a webhook with its deliveries.')
    .action(async (webhookId: string) => {
      printFields(out, await (await client()).call('deleteWebhook', { params: { webhookId } }));
    });
  addDeliveries(webhooks, client, out);
  withChoice(webhooks.command('listen'))
    .description(
      'Receive events on this machine and print them, until Ctrl-C. The server must reach this machine.',
    )
    .option('--port <port>', 'port to listen on (default: a free one)', numberOf, 0)
    .action(async ({ port, ...given }: CreateOptions & { readonly port: number }) => {
      const over = new Promise<void>((resolve) => process.once('SIGINT', () => resolve()));
      await listen(await client(), port, given, out, over);
    });
}

const withChoice = (command: Command): Command =>
  command
    .option('--events <types>', 'types of events and groups of them, separated by commas', '*')
    .option('--simulation <id>', 'main, the id of a simulation, or * for all', 'main');

const bodyOf = (url: string, { events, simulation }: CreateOptions): BodyOf<'createWebhook'> => ({
  url,
  // The server lists them.
  events: events.split(',').map((event) => event.trim()) as NonNullable<BodyOf<'createWebhook'>['events']>,
  simulationId: simulation,
});

function addDeliveries(webhooks: Command, client: Client, out: Output): void {
  webhooks
    .command('deliveries <webhookId>')
    .description('List the latest deliveries to a webhook, newest first.')
    .option('--status <status>', 'PENDING, DELIVERED or FAILED')
    .action(async (webhookId: string, { status }: { status?: 'PENDING' | 'DELIVERED' | 'FAILED' }) => {
      const query = { limit: 50, ...(status !== undefined && { status }) };
      const { data } = await (await client()).call('listWebhookDeliveries', { params: { webhookId }, query });
      const rows = data.map((delivery) => {
        const last = delivery.attempts.at(-1);
        return { ...delivery, tries: delivery.attempts.length, last: last?.error ?? last?.statusCode };
      });
      printRows(out, rows, ['deliveryId', 'eventId', 'type', 'status', 'tries', 'last', 'nextAttemptAt']);
    });
  webhooks
    .command('test <webhookId>')
    .description('Send a test event and show how the receiver answered.')
    .action(async (webhookId: string) => {
      printFields(out, await (await client()).call('testWebhook', { params: { webhookId } }));
    });
  webhooks
    .command('redeliver <webhookId> <deliveryId>')
    .description('Send an event again now.')
    .action(async (webhookId: string, deliveryId: string) => {
      const params = { webhookId, deliveryId };
      printFields(out, await (await client()).call('redeliverWebhook', { params }));
    });
}

/** Creates a webhook to this process, prints each event in a line, and deletes the webhook at the end. */
async function listen(
  client: Awaited<ReturnType<Client>>,
  port: number,
  given: CreateOptions,
  { write, isTerminal }: Output,
  over: Promise<void>,
): Promise<void> {
  let secret: string | undefined;
  const server = createServer((request, response) => {
    void textOf(request)
      .then((body) => verifyWebhook({ secret: secret ?? '', headers: request.headers, body }))
      .then(
        ({ type, timestamp, data }) => {
          const line = isTerminal
            ? `${timestamp}  ${type}  ${JSON.stringify(data)}`
            : JSON.stringify({ type, timestamp, data });
          write(`${line}\n`);
          response.writeHead(204).end();
        },
        () => response.writeHead(400).end(),
      );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const created = await client.call('createWebhook', { body: bodyOf(url, given) });
    ({ secret } = created);
    const { webhookId } = created;
    if (isTerminal) write(`Listening at ${url} for ${given.events}; Ctrl-C ends it.\n`);
    await over;
    await client.call('deleteWebhook', { params: { webhookId } });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
