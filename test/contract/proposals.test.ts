import { describe, expect, it } from 'vitest';
import { isOpenProposal, type Proposal, proposalAt } from '../../src/contract/definitions/proposal.ts';

const T0 = Date.parse('2026-01-15T10:30:00.000Z');
const proposal = (status: Proposal['status']): Proposal => ({
  id: 'p',
  status,
  baseHash: 'sha256:a',
  hash: 'sha256:b',
  createdAt: new Date(T0 - 1000).toISOString(),
  expiresAt: new Date(T0).toISOString(),
});

describe('a proposal', () => {
  it('expires when its time has passed, reviewed or not, even if nobody has looked at it', () => {
    for (const status of ['pending', 'approved'] as const) {
      expect(proposalAt(proposal(status), T0 - 1).status).toBe(status);
      expect(proposalAt(proposal(status), T0).status).toBe('expired');
    }
  });

  it('stays what it came to be', () => {
    for (const status of ['rejected', 'applied', 'failed', 'expired'] as const) {
      expect(proposalAt(proposal(status), T0 + 1).status).toBe(status);
      expect(isOpenProposal(proposal(status))).toBe(false);
    }
  });
});
