import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import { classNames } from './classNames.js'
import { Link } from './Link.js'
import { usePath } from './navigation.js'
import { ThemeToggle } from './ThemeToggle.js'

export type PageShellProps = {
  /** Title of the window. The page has its own heading. */
  title: string
  /** Name of the shop. */
  brand: string
  /** Address that the brand links to. */
  home: string
  footer: ReactNode
  nav?: readonly { href: string; label: string; isCurrent?: boolean }[]
  /** Shown at the end of the header. */
  actions?: ReactNode
  /** For pages with wide tables. */
  wide?: boolean | undefined
  children: ReactNode
}

export function PageShell({
  title,
  brand,
  home,
  footer,
  nav = [],
  actions,
  wide = false,
  children,
}: PageShellProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · ${brand}`
  }, [title, brand])
  const main = useFocusOnArrival()
  return (
    <div className={classNames('shell', wide && 'shell-wide')}>
      <a className="skip-link" href="#main">
        Skip to the content
      </a>
      <header className="shell-bar">
        <div>
          <Link className="brand" href={home}>
            <BrandMark />
            <span className="brand-name">{brand}</span>
          </Link>
          {nav.length > 0 && (
            <nav className="shell-nav" aria-label="Pages">
              {nav.map(({ href, label, isCurrent }) => (
                <Link
                  key={href}
                  href={href}
                  aria-current={isCurrent ? 'page' : undefined}
                >
                  {label}
                </Link>
              ))}
            </nav>
          )}
          {actions}
          <ThemeToggle />
        </div>
      </header>
      <main ref={main} className="shell-main" id="main" tabIndex={-1}>
        {children}
      </main>
      <footer className="shell-foot">
        <div>{footer}</div>
      </footer>
    </div>
  )
}

let lastPath: string | undefined

/** Focuses the page after a link within it, but not on the first visit. */
function useFocusOnArrival(): RefObject<HTMLElement | null> {
  const main = useRef<HTMLElement>(null)
  const path = usePath()
  useEffect(() => {
    if (lastPath !== undefined && lastPath !== path)
      main.current?.focus({ preventScroll: true })
    lastPath = path
  }, [path])
  return main
}

function BrandMark(): ReactNode {
  return (
    <svg aria-hidden="true" width="28" height="28" viewBox="0 0 28 28">
      <rect width="28" height="28" rx="8" fill="currentColor" />
      <path
        d="M8.5 19.5C4 12 11.5 4.5 19.5 8.5 24 16 16.5 23.5 8.5 19.5Zm0 0c4.5-1 2-4.5 5.5-5.5s1-4.5 5.5-5.5"
        fill="none"
        stroke="var(--surface)"
        strokeWidth="1.9"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}
