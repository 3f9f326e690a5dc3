"""Operations: doctor, health, the audit log, the operator's pages."""
