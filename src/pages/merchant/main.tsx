import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { applyTheme } from '../ui/theme.js'
import { dataElement } from '../web/pageData.js'
import { MerchantPage } from './MerchantPage.js'
import { toPagesShop } from './shop.js'

applyTheme()
const root = document.getElementById('root')
const data = document.querySelector<HTMLMetaElement>(
  `meta[name="${dataElement}"]`,
)
if (root && data)
  createRoot(root).render(
    <StrictMode>
      <MerchantPage
        shop={toPagesShop(JSON.parse(data.content), location.href)}
      />
    </StrictMode>,
  )
