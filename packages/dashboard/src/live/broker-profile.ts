/** One-line profile of a broker: fees, short sales, option level. Pure. */
import type { Broker } from '@sandpit/protocol';

const FEE = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 4,
});

type Commission = Broker['equityCommission'];

/** `free`, `$4.95`, `$0.005 a share`, `$1.00 and $0.65 a contract`. */
export function commissionText({ perOrder, perUnit }: Commission, unit: string): string {
  const parts = [
    ...(perOrder === undefined || perOrder === 0 ? [] : [FEE.format(perOrder)]),
    ...(perUnit === undefined || perUnit === 0 ? [] : [`${FEE.format(perUnit)} a ${unit}`]),
  ];
  return parts.length === 0 ? 'free' : parts.join(' and ');
}

/** `Shares free · options $0.50 a contract · fees passed on · short sales · option level 4 · margin 6.0%`. */
export function profileOf({
  equityCommission,
  optionCommission,
  passesRegulatoryFees,
  shortSelling,
  optionLevel,
  futures,
  marginInterestTiers,
}: Broker): string {
  const rate = marginInterestTiers[0]?.rateAnnual;
  return [
    `Shares ${commissionText(equityCommission, 'share')}`,
    `options ${commissionText(optionCommission, 'contract')}`,
    passesRegulatoryFees ? 'regulatory fees passed on' : 'no regulatory fees',
    shortSelling ? 'short sales' : 'no short sales',
    `option level ${optionLevel}`,
    ...(futures ? ['futures'] : []),
    ...(rate === undefined ? [] : [`margin loan ${(rate * 100).toFixed(1)}%`]),
  ].join(' · ');
}
