// First, so that what a page adds comes after.
import '../../../src/pages/ui/look.css'
import './shop.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { applyTheme } from '../../../src/pages/ui/theme.js'
import { App } from './App.js'
import { announceDevelopmentWallet } from './wallet/announceDevelopmentWallet.js'

applyTheme()
announceDevelopmentWallet()
const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
