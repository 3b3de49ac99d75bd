export type OptionType = 'CALL' | 'PUT';

/** What distinguishes an option from the others of its underlying and expiration. */
export interface OptionTerms {
  readonly optionType: OptionType;
  readonly style: 'AMERICAN' | 'EUROPEAN';
  /** Dollars per share. */
  readonly strike: number;
}
