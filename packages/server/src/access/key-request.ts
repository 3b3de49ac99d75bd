import type { Access, KeyGrant, KeyInfo } from './access.js';
import { AccessRefused } from './access.js';

/** Requests of an operator about keys. */
export type KeyRequest =
  | { readonly order: 'list'; readonly tenantId?: string }
  | ({ readonly order: 'create' } & KeyGrant)
  | { readonly order: 'revoke-key'; readonly id: string }
  /** `expiresAtMs`: when the token ends anyway. */
  | { readonly order: 'revoke-token'; readonly id: string; readonly expiresAtMs: number };

/** Result of a request: the keys, or the new key, shown this once. */
export type KeyResult = readonly KeyInfo[] | { readonly id: string; readonly apiKey: string } | null;

/** Executes an operator's request, in the server or in the command itself. */
export async function executeKeyRequest(access: Access, order: KeyRequest): Promise<KeyResult> {
  switch (order.order) {
    case 'list':
      return access.keys(order.tenantId);
    case 'create': {
      const { id, apiKey } = await access.createKey(order);
      return { id, apiKey };
    }
    case 'revoke-key':
      await access.revokeKey(order.id);
      return null;
    case 'revoke-token':
      await access.revokeToken(order.id, order.expiresAtMs);
      return null;
    default:
      throw new AccessRefused('unknown order');
  }
}
