/** Which rules set what a MARGIN portfolio must hold. */
export type MarginType = 'REG_T' | 'PORTFOLIO';

/** How portfolio margin measures risk. */
export type MarginEngine = 'SIMPLE' | 'SPAN' | 'TIMS';
