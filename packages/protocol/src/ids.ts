/** The parameters of paths. */
import { parameters, text, uuid } from './fields.js';

export const AccountParams = parameters({ accountId: uuid({ description: 'The account.' }) });
export const PortfolioParams = parameters({ portfolioId: uuid({ description: 'The portfolio.' }) });
export const KeyPairParams = parameters({
  portfolioId: uuid({ description: 'The portfolio.' }),
  keyId: text({ maxLength: 64, description: 'The key pair.' }),
});
export const HeldOptionParams = parameters({
  portfolioId: uuid({ description: 'The portfolio.' }),
  optionSymbol: text({
    description: 'Option symbol in OSI form, with or without blanks.',
    examples: ['AAPL260116C00150000'],
  }),
});
export const OrderParams = parameters({ orderId: uuid({ description: 'The order.' }) });
export const SimulationParams = parameters({
  simulationId: text({ maxLength: 64, description: 'The simulation.' }),
});
export const SnapshotParams = parameters({
  simulationId: text({ maxLength: 64, description: 'The simulation.' }),
  snapshotId: uuid({ description: 'The snapshot.' }),
});
export const ActionParams = parameters({ actionId: text({ description: 'The corporate action.' }) });
export const FaultParams = parameters({ faultId: uuid({ description: 'The fault.' }) });
export const WebhookParams = parameters({ webhookId: uuid({ description: 'The webhook.' }) });
export const DeliveryParams = parameters({
  webhookId: uuid({ description: 'The webhook.' }),
  deliveryId: uuid({ description: 'The delivery.' }),
});
export const AlertParams = parameters({ alertId: uuid({ description: 'The alert.' }) });
export const OutcomeParams = parameters({ outcomeId: uuid({ description: 'The outcome.' }) });
export const SymbolParams = parameters({
  symbol: text({ description: 'A listed symbol.', examples: ['AAPL'] }),
});
export const HaltParams = parameters({
  symbol: text({ description: 'The symbol of the halt; `*` = the whole market.', examples: ['AAPL'] }),
});
export const UnderlyingParams = parameters({
  underlying: text({ description: 'Symbol of the underlying.', examples: ['AAPL'] }),
});
export const ExchangeParams = parameters({
  exchange: text({ description: 'An exchange, by its market identifier code.', examples: ['XNYS'] }),
});
