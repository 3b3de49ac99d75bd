import type { Requester } from '../../command.js';
import { isForShares } from '../../instruments/instrument.js';
import type { OrderRequest } from '../../orders/order-request.js';
import type { TimeInForce } from '../../orders/order.js';
import type { Rejection } from '../../rejection.js';

const needsPro = (by: Requester, what: string): Rejection => ({
  code: 'FEATURE_NOT_AVAILABLE',
  message: `${what} not available in the ${by.tier} tier`,
  currentTier: by.tier,
  requiredTier: 'PRO',
});

/** Refusal of features outside the subscription tier (contract section 8): BASIC trades plain equity orders in regular hours. */
export function beyondTier(by: Requester, order: OrderRequest): Rejection | undefined {
  if (by.tier !== 'BASIC') return undefined;
  const { assetClass, orderType, timeInForce, session, bracketConfig, ocoConfig, latencyProfile } = order;
  if (orderType !== 'MARKET' && orderType !== 'LIMIT') return needsPro(by, `${orderType} orders are`);
  const tif = timeInForceBeyondTier(by, timeInForce);
  if (tif !== undefined) return tif;
  if (!isForShares(assetClass)) return needsPro(by, `${assetClass} orders are`);
  if (session === 'EXTENDED') return needsPro(by, 'Extended hours are');
  if (bracketConfig !== undefined) return needsPro(by, 'Bracket orders are');
  if (ocoConfig !== undefined) return needsPro(by, 'OCO orders are');
  if (latencyProfile !== undefined && latencyProfile !== 'RETAIL') {
    return needsPro(by, `Latency profile ${latencyProfile} is`);
  }
  return undefined;
}

/** Checks the tier for a time in force, which an update can change. */
export function timeInForceBeyondTier(by: Requester, timeInForce: TimeInForce): Rejection | undefined {
  if (by.tier !== 'BASIC' || timeInForce === 'DAY' || timeInForce === 'GTC') return undefined;
  return needsPro(by, `Time in force ${timeInForce} is`);
}
