import { type ReactNode, useState } from 'react'
import { Icon } from './Icon.js'
import { chooseTheme, readTheme } from './theme.js'

export function ThemeToggle(): ReactNode {
  const [theme, setTheme] = useState(readTheme)
  const other = theme === 'dark' ? 'light' : 'dark'
  function toggle(): void {
    chooseTheme(other)
    setTheme(other)
  }
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={`Use the ${other} theme`}
      title={`Use the ${other} theme`}
      onClick={toggle}
    >
      <Icon name={other === 'dark' ? 'moon' : 'sun'} />
    </button>
  )
}
