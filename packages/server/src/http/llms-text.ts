import { pathsOf, routeEntries, type Tag, tags } from '@sandpit/protocol';

const OPENING = `# Sandpit

> A simulated US brokerage over REST and server-sent events. Nothing here is real: no money, no market, no advice.

- Base path \`/v1\`. Bodies and answers are JSON; prices, quantities and dollars are JSON numbers. Times are ISO 8601, dates without a time are New York dates.
- \`Authorization: Bearer TOKEN\` on every call but health, readiness and the token exchange. \`POST /v1/auth/token\` changes an API key into a token.
- Every POST takes an \`Idempotency-Key\`: with the same key and body the same answer comes again, and nothing happens twice. Retry network errors, 429 and 503 with the same key.
- An error is \`{ statusCode, message, error }\`; \`error\` is a name, or an object with a \`code\` and the figures behind it. \`message\` is a list where a body is not valid.
- Lists are \`{ data, pagination }\`, newest first. Read on with \`cursor=\` and the header \`X-Next-Cursor\`.
- An order: \`{ portfolioId, symbol, assetClass, orderType, positionIntent, quantity, timeInForce, limitPrice?, stopPrice? }\`. The answer is PENDING; the order stream, or \`GET /v1/orders/:orderId\`, tells what became of it. \`waitingFor\` says why an open order does not execute.
- A simulation of your own (\`POST /v1/simulations\`) has its market and clock: push quotes, let time pass, delete it.

The whole API: [/openapi.json](/openapi.json). In a browser: the documentation at [/docs/](/docs/), the API reference at [/docs/api/](/docs/api/).
`;

/** A guide to the API for language models (llmstxt.org), generated from the table of routes. */
export function llmsText(): string {
  const sections = (Object.keys(tags) as Tag[]).map((tag) => {
    const lines = routeEntries
      .filter(([, route]) => route.tag === tag)
      .map(([id, route]) => {
        const [, ...aliases] = pathsOf(id, route).map(([, path]) => path);
        const also = aliases.length === 0 ? '' : ` (also \`${aliases.join('`, `')}\`)`;
        const more = route.description === undefined ? '' : ` ${route.description}`;
        return `- \`${route.method} ${route.path}\`${also}: ${route.summary}.${more}`;
      });
    return `## ${tag}\n\n${tags[tag]}\n\n${lines.join('\n')}\n`;
  });
  return [OPENING, ...sections].join('\n');
}
