/** A tenant's subscription (contract section 8). */
export type Tier = 'BASIC' | 'PRO' | 'ENTERPRISE';
