/** An index: quoted, and the settlement price of options; never ordered and never held. */
export interface IndexUnderlying {
  readonly assetClass: 'INDEX';
  readonly symbol: string;
  readonly name: string;
}
