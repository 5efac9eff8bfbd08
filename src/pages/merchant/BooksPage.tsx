import type { ReactNode } from 'react'
import { AuditCard } from './AuditCard.js'
import { HealthCard } from './HealthCard.js'
import { IncomeCard } from './IncomeCard.js'
import { LedgerCard } from './LedgerCard.js'
import type { MerchantApi } from './merchantApi.js'
import { ReconcileCard } from './ReconcileCard.js'
import { WebhooksCard } from './WebhooksCard.js'

/** Compares the record with the chain, and shows the shop's health. */
export function BooksPage({ api }: { api: MerchantApi }): ReactNode {
  return (
    <div className="stack stack-wide">
      <div className="page-head">
        <div>
          <h1>Books and health</h1>
          <p>Compare your orders with what the chain shows.</p>
        </div>
      </div>
      <div className="columns columns-even">
        <AuditCard api={api} />
        <ReconcileCard api={api} />
      </div>
      <IncomeCard api={api} />
      <LedgerCard api={api} />
      <HealthCard api={api} />
      <WebhooksCard api={api} />
    </div>
  )
}
