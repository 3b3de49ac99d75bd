import type { AskNode } from '../../cluster/cluster.js';
import { MARKET_TENANT } from '../../store/ownership.js';
import { sendTo } from './forwarding.js';
import { digestOf, signedHeaders } from './node-auth.js';
import type { NodeKey } from './node-auth.js';

/** Sends this node's requests to other nodes. */
export function askerOf(key: NodeKey): AskNode {
  return async (node, path, body, timeoutMs) => {
    const text = Buffer.from(JSON.stringify(body));
    const headers = {
      'content-type': 'application/json',
      'content-length': String(text.length),
      ...signedHeaders(key, 'POST', path, {
        kind: 'node',
        to: node.incarnation,
        tenantId: MARKET_TENANT,
        client: '',
        body: { digest: digestOf(text) },
      }),
    };
    const signal = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)));
    const outcome = await sendTo(node, { method: 'POST', url: path, headers, body: [text] }, signal);
    if (outcome.became !== 'answered' || outcome.answer.status !== 200)
      throw new Error(`node ${node.nodeId} does not answer`);
    return JSON.parse(outcome.answer.body.toString()) as unknown;
  };
}
