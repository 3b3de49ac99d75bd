import type { OrderRequest, Requester } from '../command.js';
import type { Rejection } from '../rejection.js';

const needsPro = (by: Requester, what: string): Rejection => ({
  code: 'FEATURE_NOT_AVAILABLE',
  message: `${what} not available in the ${by.tier} tier`,
  currentTier: by.tier,
  requiredTier: 'PRO',
});

/** What the subscription tier does not include (contract section 8): BASIC trades plain equity orders in regular hours. */
export function beyondTier(by: Requester, order: OrderRequest): Rejection | undefined {
  if (by.tier !== 'BASIC') return undefined;
  const { assetClass, orderType, timeInForce, session, bracketConfig, latencyProfile } = order;
  if (orderType !== 'MARKET' && orderType !== 'LIMIT') return needsPro(by, `${orderType} orders are`);
  if (timeInForce !== 'DAY' && timeInForce !== 'GTC') return needsPro(by, `Time in force ${timeInForce} is`);
  if (assetClass !== 'EQUITY') return needsPro(by, `${assetClass} orders are`);
  if (session === 'EXTENDED') return needsPro(by, 'Extended hours are');
  if (bracketConfig !== undefined) return needsPro(by, 'Bracket orders are');
  if (latencyProfile !== undefined && latencyProfile !== 'RETAIL') {
    return needsPro(by, `Latency profile ${latencyProfile} is`);
  }
  return undefined;
}
