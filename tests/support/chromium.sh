#!/bin/sh
# Starts $CHROMIUM_PROGRAM with its arguments, without the WebUI of the address bar, and without a
# spare process for the next page of every browser context, which tests hardly ever open: an eighth
# of the CPU time of a context with one page.
#
# Recent releases load two pages per window for the suggestions below the address bar:
# 0.5 s of CPU time for every browser context, most of the cost of a short test. The features are
# added to those that Playwright disables, because a second --disable-features replaces the first.
features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup
features=$features,SpareRendererForSitePerProcess
for argument; do
    shift
    case $argument in
        --disable-features=*) argument=$argument,$features ;;
    esac
    set -- "$@" "$argument"
done
exec "$CHROMIUM_PROGRAM" "$@"
