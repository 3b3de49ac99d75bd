export type OptionType = 'CALL' | 'PUT';

/** Terms that distinguish an option from the others of its underlying and expiration. */
export interface OptionTerms {
  readonly optionType: OptionType;
  readonly style: 'AMERICAN' | 'EUROPEAN';
  /** Dollars per share. */
  readonly strike: number;
}
