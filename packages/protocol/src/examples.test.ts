/** The examples of the OpenAPI document: one for each operation, valid by the schemas of its route. */
import { describe, expect, it } from 'vitest';
import { type Example, examples } from './examples.js';
import { openApiDocument } from './openapi.js';
import { type OperationId, routeEntries } from './routes.js';
import type { Route } from './routes/route.js';
import { streamEventSchemas } from './streams.js';
import { validateBody, validateParams, validateTexts } from './validate.js';

const messagesOf = (result: {
  readonly ok: boolean;
  readonly messages?: readonly string[];
}): readonly string[] => (result.ok ? [] : (result.messages ?? []));

/** Problems of an example, in the words of the validator. */
function problemsOf(route: Route, example: Example): string[] {
  const { params, query, body } = route;
  const texts = Object.fromEntries(
    Object.entries(example.query ?? {}).map(([name, value]) => [name, String(value)]),
  );
  return [
    ...(params === undefined ? [] : messagesOf(validateParams(params, example.params ?? {}))),
    ...(query === undefined ? [] : messagesOf(validateTexts(query, texts))),
    ...(body === undefined ? [] : messagesOf(validateBody(body, example.body ?? {}))),
    ...replyProblems(route, example),
  ];
}

function replyProblems({ responses, events }: Route, { reply, stream }: Example): readonly string[] {
  if (events === undefined) {
    const schema = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
    return schema === undefined || reply === undefined
      ? ['has no reply']
      : messagesOf(validateBody(schema, reply));
  }
  const [, name, data = ''] = /^id: .+\nevent: (.+)\ndata: (.+)\n\n$/.exec(stream ?? '') ?? [];
  const event = events.find((one) => one === name);
  return event === undefined
    ? ['has no event of its stream']
    : messagesOf(validateBody(streamEventSchemas[event], JSON.parse(data)));
}

describe('Examples of operations', () => {
  it('exist for every operation', () => {
    expect(routeEntries.map(([id]) => id).filter((id) => examples[id] === undefined)).toEqual([]);
  });

  it.each(Object.entries(examples) as [OperationId, Example][])('%s: is valid', (id, example) => {
    const route = routeEntries.find(([known]) => known === id)?.[1];
    expect(route === undefined ? ['no such operation'] : problemsOf(route, example)).toEqual([]);
  });

  it('are included in the OpenAPI document, also for aliases', () => {
    const { paths } = openApiDocument({ serverUrl: 'http://127.0.0.1:3000', version: '1' }) as {
      paths: Record<
        string,
        Record<string, { responses: Record<string, { content?: Record<string, object> }> }>
      >;
    };
    for (const [path, item] of Object.entries(paths))
      for (const [method, { responses }] of Object.entries(item)) {
        const answer = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
        for (const media of Object.values(answer?.content ?? {}))
          expect(media, `${method} ${path}`).toHaveProperty('example');
      }
  });
});
